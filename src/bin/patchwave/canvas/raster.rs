//! Shapes on pixels. A pixel takes as much of a colour as the shape covers of it.

use std::convert::Infallible;

use embedded_graphics::Drawable;
use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::mono_font::{MonoTextStyle, iso_8859_1};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::text::{Alignment, Baseline, Text, TextStyleBuilder};
use image::{Rgb, RgbImage};

use super::{Anchor, At, Canvas, Colour, Letters, Rect};

/// Pixels of a unit of length, for sharp letters.
pub(super) const SCALE: u32 = 2;

pub(super) struct Raster(RgbImage);

impl Raster {
    /// White, of so many units.
    pub(super) fn new(width: u32, height: u32) -> Self {
        Self(RgbImage::from_pixel(width * SCALE, height * SCALE, Rgb([255; 3])))
    }

    /// Red, green and blue of all pixels, row by row.
    pub(super) fn pixels(&self) -> &[u8] {
        self.0.as_raw()
    }

    /// Mixes `colour` into the pixels of a rectangle, given in pixels, by what `covered` says of a pixel's left upper corner.
    fn mix(&mut self, [x, y, width, height]: Rect, colour: Colour, covered: impl Fn(f64, f64) -> f64) {
        let columns = (x.max(0.0).floor() as u32)..((x + width).max(0.0).ceil() as u32).min(self.0.width());
        let rows = (y.max(0.0).floor() as u32)..((y + height).max(0.0).ceil() as u32).min(self.0.height());
        for row in rows {
            for column in columns.clone() {
                let covered = covered(f64::from(column), f64::from(row));
                let pixel = self.0.get_pixel_mut(column, row);
                for (old, new) in pixel.0.iter_mut().zip(colour) {
                    *old = (f64::from(*old) + (f64::from(new) - f64::from(*old)) * covered).round() as u8;
                }
            }
        }
    }

    /// Mixes in a shape within a box around `places`, grown by `room`: `distance` is that of a place to the shape's edge,
    /// negative within, all in pixels.
    fn shape(&mut self, places: &[At], room: f64, colour: Colour, distance: impl Fn(At) -> f64) {
        let side = |axis: usize, pick: fn(f64, f64) -> f64| places.iter().map(|place| place[axis]).reduce(pick);
        let (Some(left), Some(top)) = (side(0, f64::min), side(1, f64::min)) else { return };
        let (Some(right), Some(bottom)) = (side(0, f64::max), side(1, f64::max)) else { return };
        let room = room + 1.0;
        let around = [left - room, top - room, right - left + 2.0 * room, bottom - top + 2.0 * room];
        self.mix(around, colour, |x, y| (0.5 - distance([x + 0.5, y + 0.5])).clamp(0.0, 1.0));
    }
}

impl Canvas for Raster {
    fn rects(&mut self, colour: Colour, rects: &[Rect]) {
        for rect in rects {
            let [x, y, width, height] = rect.map(|value| value * f64::from(SCALE));
            let overlap = |pixel: f64, begin: f64, length: f64| {
                ((pixel + 1.0).min(begin + length) - pixel.max(begin)).clamp(0.0, 1.0)
            };
            let covered = |column, row| overlap(column, x, width) * overlap(row, y, height);
            self.mix([x, y, width, height], colour, covered);
        }
    }

    fn polygons(&mut self, colour: Colour, polygons: &[Vec<At>]) {
        for polygon in polygons {
            let polygon: Vec<At> = polygon.iter().copied().map(scaled).collect();
            let next = polygon.iter().skip(1).chain(polygon.first());
            let sides: Vec<[At; 2]> = polygon.iter().zip(next).map(|(from, to)| [*from, *to]).collect();
            // Twice its area; the sign tells on which side of its edges it lies.
            let turning: f64 = sides.iter().map(|[from, to]| from[0] * to[1] - from[1] * to[0]).sum();
            self.shape(&polygon, 0.0, colour, |at| {
                let outside = sides.iter().map(|[from, to]| {
                    let along = [to[0] - from[0], to[1] - from[1]];
                    let across = along[1] * (at[0] - from[0]) - along[0] * (at[1] - from[1]);
                    across * turning.signum() / along[0].hypot(along[1]).max(f64::MIN_POSITIVE)
                });
                outside.fold(f64::NEG_INFINITY, f64::max)
            });
        }
    }

    fn lines(&mut self, colour: Colour, width: f64, lines: &[[At; 2]]) {
        let half = width * f64::from(SCALE) / 2.0;
        for line in lines {
            let [from, to] = line.map(scaled);
            let along = [to[0] - from[0], to[1] - from[1]];
            let length_squared = (along[0] * along[0] + along[1] * along[1]).max(f64::MIN_POSITIVE);
            self.shape(&[from, to], half, colour, |at| {
                let away = [at[0] - from[0], at[1] - from[1]];
                let share = ((away[0] * along[0] + away[1] * along[1]) / length_squared).clamp(0.0, 1.0);
                (away[0] - share * along[0]).hypot(away[1] - share * along[1]) - half
            });
        }
    }

    fn dots(&mut self, colour: Colour, radius: f64, centers: &[At]) {
        let radius = radius * f64::from(SCALE);
        for center in centers {
            let center = scaled(*center);
            let distance = |at: At| (at[0] - center[0]).hypot(at[1] - center[1]) - radius;
            self.shape(&[center], radius, colour, distance);
        }
    }

    fn letters(&mut self, at: At, letters: Letters, text: &str) {
        let stencil = Stencil::new(text, letters.size);
        let [width, height] = stencil.size;
        let begin = match letters.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let [x, y] = scaled(at);
        if letters.turn == 0.0 {
            // At whole pixels, so that letters stay sharp.
            let place = [x - begin, y - height / 2.0].map(f64::round);
            let covered =
                |column, row| f64::from(u8::from(stencil.is_set([column - place[0] + 0.5, row - place[1] + 0.5])));
            self.mix([place[0], place[1], width, height], letters.colour, covered);
            return;
        }
        let (sin, cos) = letters.turn.to_radians().sin_cos();
        let reach = width.max(height);
        let covered = |column: f64, row: f64| {
            // Four places a pixel.
            let places = [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]];
            let set = places.iter().filter(|[right, down]| {
                let [dx, dy] = [column + right - x, row + down - y];
                stencil.is_set([dx * cos + dy * sin + begin, dy * cos - dx * sin + height / 2.0])
            });
            set.count() as f64 / 4.0
        };
        self.mix([x - reach, y - reach, 2.0 * reach, 2.0 * reach], letters.colour, covered);
    }
}

fn scaled(at: At) -> At {
    at.map(|value| value * f64::from(SCALE))
}

/// A text as pixels that are set or not, each letter's pixel [`SCALE`] of the picture's.
struct Stencil {
    /// Width and height in the picture's pixels.
    size: [f64; 2],
    columns: u32,
    rows: u32,
    set: Vec<bool>,
}

impl Stencil {
    fn new(text: &str, size: f64) -> Self {
        let font = if size < 15.0 { iso_8859_1::FONT_8X13 } else { iso_8859_1::FONT_10X20 };
        // The fonts have the letters of western Europe.
        let text = text.replace('\u{2192}', ">");
        let (columns, rows) = (font.character_size.width * text.chars().count() as u32, font.character_size.height);
        let set = vec![false; columns as usize * rows as usize];
        let size = [columns, rows].map(|pixels| f64::from(pixels * SCALE));
        let mut stencil = Self { size, columns, rows, set };
        let style = TextStyleBuilder::new().alignment(Alignment::Left).baseline(Baseline::Top).build();
        let style = Text::with_text_style(&text, Point::zero(), MonoTextStyle::new(&font, BinaryColor::On), style);
        let _ = style.draw(&mut stencil);
        stencil
    }

    /// Whether a place, in the picture's pixels from the text's left upper corner, is on a letter.
    fn is_set(&self, at: At) -> bool {
        let [column, row] = at.map(|value| (value / f64::from(SCALE)).floor());
        self.index(column as i64, row as i64).is_some_and(|index| self.set[index])
    }

    fn index(&self, column: i64, row: i64) -> Option<usize> {
        let inside = (0..i64::from(self.columns)).contains(&column) && (0..i64::from(self.rows)).contains(&row);
        inside.then(|| row as usize * self.columns as usize + column as usize)
    }
}

impl OriginDimensions for Stencil {
    fn size(&self) -> Size {
        Size::new(self.columns, self.rows)
    }
}

impl DrawTarget for Stencil {
    type Color = BinaryColor;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<BinaryColor>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        for Pixel(Point { x, y }, colour) in pixels {
            if let Some(index) = self.index(x.into(), y.into()) {
                self.set[index] = colour.is_on();
            }
        }
        Ok(())
    }
}
