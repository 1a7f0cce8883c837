//! Rectangles, lines and text, as SVG or as PNG.
//!
//! The program's charts are made of nothing else, so that an SVG renderer or a charting library would be a large dependency
//! for little: rectangles and lines are filled here, and embedded-graphics gives the letters of pictures.

use embedded_graphics::Drawable;
use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle, iso_8859_1};
use embedded_graphics::pixelcolor::{Rgb888, RgbColor};
use embedded_graphics::text::{Alignment, Baseline, Text, TextStyleBuilder};
use image::{ImageEncoder, Rgb, RgbImage};
use std::convert::Infallible;
use std::fmt::Write;

/// Red, green, blue.
pub(crate) type Colour = [u8; 3];

/// Left, top, width, height.
pub(crate) type Rect = [f64; 4];

/// Which point of a text is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Something to draw on. A text's y is its middle.
pub(crate) trait Canvas {
    fn rects(&mut self, colour: Colour, rects: &[Rect]);
    /// Lines from one place to another, with round ends.
    fn lines(&mut self, colour: Colour, width: f64, lines: &[[[f64; 2]; 2]]);
    fn text(&mut self, at: [f64; 2], anchor: Anchor, colour: Colour, text: &str);
}

/// What is drawn, before it is known on what.
pub(crate) trait Drawing {
    /// Width and height.
    fn size(&self) -> [u32; 2];
    fn draw(&self, canvas: &mut dyn Canvas);

    /// As the text of an SVG file.
    fn svg(&self) -> String {
        let [width, height] = self.size();
        let mut svg = Svg(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"monospace\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        ));
        self.draw(&mut svg);
        svg.0 + "</svg>\n"
    }

    /// As the bytes of a PNG file, twice as large for sharp letters.
    fn png(&self) -> anyhow::Result<Vec<u8>> {
        let [width, height] = self.size();
        let mut raster = Raster(RgbImage::from_pixel(width * SCALE, height * SCALE, Rgb([255; 3])));
        self.draw(&mut raster);
        let mut png = Vec::new();
        let encoder = image::codecs::png::PngEncoder::new(&mut png);
        encoder.write_image(&raster.0, width * SCALE, height * SCALE, image::ExtendedColorType::Rgb8)?;
        Ok(png)
    }

    /// As the file's name asks for: PNG where it ends in .png, else SVG.
    fn bytes_for(&self, path: &std::path::Path) -> anyhow::Result<Vec<u8>> {
        let is_png = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"));
        if is_png { self.png() } else { Ok(self.svg().into_bytes()) }
    }
}

struct Svg(String);

// Writing to a String cannot fail.
impl Canvas for Svg {
    fn rects(&mut self, [r, g, b]: Colour, rects: &[Rect]) {
        if rects.is_empty() {
            return;
        }
        self.0.push_str("<path d=\"");
        for [x, y, width, height] in rects {
            // Hundredths of a unit are finer than anybody sees.
            let _ = write!(self.0, "M{x:.2} {y:.2}h{width:.2}v{height:.2}h-{width:.2}z");
        }
        let _ = writeln!(self.0, "\" fill=\"#{r:02x}{g:02x}{b:02x}\"/>");
    }

    fn lines(&mut self, [r, g, b]: Colour, width: f64, lines: &[[[f64; 2]; 2]]) {
        if lines.is_empty() {
            return;
        }
        self.0.push_str("<path d=\"");
        for [[x, y], [to_x, to_y]] in lines {
            let _ = write!(self.0, "M{x:.2} {y:.2}L{to_x:.2} {to_y:.2}");
        }
        let _ = writeln!(
            self.0,
            "\" fill=\"none\" stroke=\"#{r:02x}{g:02x}{b:02x}\" stroke-width=\"{width:.2}\" stroke-linecap=\"round\"/>"
        );
    }

    fn text(&mut self, [x, y]: [f64; 2], anchor: Anchor, [r, g, b]: Colour, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"#{r:02x}{g:02x}{b:02x}\">{text}</text>",
            y + 4.0
        );
    }
}

const SCALE: u32 = 2;
const FONT: MonoFont<'_> = iso_8859_1::FONT_8X13;

struct Raster(RgbImage);

impl Raster {
    /// Gives a pixel so much of a colour.
    fn cover(&mut self, column: u32, row: u32, colour: Colour, covered: f64) {
        if covered <= 0.0 {
            return;
        }
        if let Some(pixel) = self.0.get_pixel_mut_checked(column, row) {
            for (old, new) in pixel.0.iter_mut().zip(colour) {
                *old = (f64::from(*old) + (f64::from(new) - f64::from(*old)) * covered).round() as u8;
            }
        }
    }
}

/// Of a point from a stretch.
fn distance(at: [f64; 2], from: [f64; 2], to: [f64; 2]) -> f64 {
    let [along, off] = [[to[0] - from[0], to[1] - from[1]], [at[0] - from[0], at[1] - from[1]]];
    let length = along[0] * along[0] + along[1] * along[1];
    let share = if length > 0.0 { ((along[0] * off[0] + along[1] * off[1]) / length).clamp(0.0, 1.0) } else { 0.0 };
    (off[0] - along[0] * share).hypot(off[1] - along[1] * share)
}

impl Canvas for Raster {
    fn rects(&mut self, colour: Colour, rects: &[Rect]) {
        for rect in rects {
            let [x, y, width, height] = rect.map(|value| value * f64::from(SCALE));
            let columns = (x.max(0.0).floor() as u32)..((x + width).max(0.0).ceil() as u32).min(self.0.width());
            let rows = (y.max(0.0).floor() as u32)..((y + height).max(0.0).ceil() as u32).min(self.0.height());
            // A pixel takes as much of the colour as the rectangle covers of it.
            let overlap = |pixel: u32, begin: f64, length: f64| {
                let pixel = f64::from(pixel);
                ((pixel + 1.0).min(begin + length) - pixel.max(begin)).clamp(0.0, 1.0)
            };
            for row in rows {
                for column in columns.clone() {
                    self.cover(column, row, colour, overlap(column, x, width) * overlap(row, y, height));
                }
            }
        }
    }

    fn lines(&mut self, colour: Colour, width: f64, lines: &[[[f64; 2]; 2]]) {
        let scale = f64::from(SCALE);
        let reach = width * scale / 2.0 + 1.0;
        for line in lines {
            let [from, to] = line.map(|place| place.map(|value| value * scale));
            let span = |axis: usize, most: u32| {
                let begin = (from[axis].min(to[axis]) - reach).max(0.0).floor() as u32;
                begin..((from[axis].max(to[axis]) + reach).max(0.0).ceil() as u32).min(most)
            };
            for row in span(1, self.0.height()) {
                for column in span(0, self.0.width()) {
                    let away = distance([f64::from(column) + 0.5, f64::from(row) + 0.5], from, to);
                    self.cover(column, row, colour, (width * scale / 2.0 + 0.5 - away).clamp(0.0, 1.0));
                }
            }
        }
    }

    fn text(&mut self, [x, y]: [f64; 2], anchor: Anchor, [r, g, b]: Colour, text: &str) {
        let alignment = match anchor {
            Anchor::Start => Alignment::Left,
            Anchor::Middle => Alignment::Center,
            Anchor::End => Alignment::Right,
        };
        let style = TextStyleBuilder::new().alignment(alignment).baseline(Baseline::Middle).build();
        let at = Point::new(x.round() as i32, y.round() as i32);
        let text = Text::with_text_style(text, at, MonoTextStyle::new(&FONT, Rgb888::new(r, g, b)), style);
        let _ = text.draw(self);
    }
}

impl OriginDimensions for Raster {
    fn size(&self) -> Size {
        Size::new(self.0.width() / SCALE, self.0.height() / SCALE)
    }
}

impl DrawTarget for Raster {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        for Pixel(Point { x, y }, colour) in pixels {
            let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { continue };
            for (dx, dy) in (0..SCALE).flat_map(|dy| (0..SCALE).map(move |dx| (dx, dy))) {
                if let Some(pixel) = self.0.get_pixel_mut_checked(x * SCALE + dx, y * SCALE + dy) {
                    *pixel = Rgb([colour.r(), colour.g(), colour.b()]);
                }
            }
        }
        Ok(())
    }
}
