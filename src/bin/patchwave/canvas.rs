//! Rectangles, convex polygons, lines, dots and text, as SVG or as PNG.
//!
//! The program's charts and patterns are made of nothing else, so that an SVG renderer or a charting library would be a
//! large dependency for little: shapes are filled here, and embedded-graphics gives the letters of pictures.

mod raster;

use std::fmt::Write;

use image::ImageEncoder;

use raster::{Raster, SCALE};

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

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Letters {
    pub(crate) anchor: Anchor,
    /// Height of the font.
    pub(crate) size: f64,
    /// Degrees to turn it around its place, clockwise.
    pub(crate) turn: f64,
    pub(crate) colour: Colour,
}

/// A place, right and down from the upper left corner.
pub(crate) type At = [f64; 2];

/// Something to draw on. A text's y is its middle.
pub(crate) trait Canvas {
    fn rects(&mut self, colour: Colour, rects: &[Rect]);
    /// Fills convex polygons.
    fn polygons(&mut self, colour: Colour, polygons: &[Vec<At>]);
    /// Lines from one place to another, with round ends.
    fn lines(&mut self, colour: Colour, width: f64, lines: &[[At; 2]]);
    fn dots(&mut self, colour: Colour, radius: f64, centers: &[At]);
    fn letters(&mut self, at: At, letters: Letters, text: &str);

    /// A text of the usual size, level.
    fn text(&mut self, at: At, anchor: Anchor, colour: Colour, text: &str) {
        self.letters(at, Letters { anchor, size: FONT_SIZE, turn: 0.0, colour }, text);
    }
}

/// Of a text whose size is not said.
const FONT_SIZE: f64 = 12.0;

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
             height=\"{height}\" font-family=\"monospace\" font-size=\"{FONT_SIZE}\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        ));
        self.draw(&mut svg);
        svg.0 + "</svg>\n"
    }

    /// As the bytes of a PNG file, twice as large for sharp letters.
    fn png(&self) -> anyhow::Result<Vec<u8>> {
        let [width, height] = self.size();
        let mut raster = Raster::new(width, height);
        self.draw(&mut raster);
        let mut png = Vec::new();
        let encoder = image::codecs::png::PngEncoder::new(&mut png);
        encoder.write_image(raster.pixels(), width * SCALE, height * SCALE, image::ExtendedColorType::Rgb8)?;
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

    fn polygons(&mut self, [r, g, b]: Colour, polygons: &[Vec<At>]) {
        if polygons.is_empty() {
            return;
        }
        self.0.push_str("<path d=\"");
        for polygon in polygons {
            self.path(polygon);
            self.0.push('Z');
        }
        let _ = writeln!(self.0, "\" fill=\"#{r:02x}{g:02x}{b:02x}\"/>");
    }

    fn lines(&mut self, [r, g, b]: Colour, width: f64, lines: &[[At; 2]]) {
        if lines.is_empty() {
            return;
        }
        self.0.push_str("<path d=\"");
        for line in lines {
            self.path(line);
        }
        let colour = format!("stroke=\"#{r:02x}{g:02x}{b:02x}\" stroke-width=\"{width:.2}\"");
        let _ = writeln!(self.0, "\" fill=\"none\" {colour} stroke-linecap=\"round\"/>");
    }

    fn dots(&mut self, [r, g, b]: Colour, radius: f64, centers: &[At]) {
        for [x, y] in centers {
            let colour = format!("fill=\"#{r:02x}{g:02x}{b:02x}\"");
            let _ = writeln!(self.0, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius:.2}\" {colour}/>");
        }
    }

    fn letters(&mut self, [x, y]: At, letters: Letters, text: &str) {
        let Letters { anchor, size, turn, colour: [r, g, b] } = letters;
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        // What is usual is left out. A third of the font's size below the middle is the line that letters stand on.
        let size_text = if size == FONT_SIZE { String::new() } else { format!(" font-size=\"{size}\"") };
        let turned = if turn == 0.0 { String::new() } else { format!(" transform=\"rotate({turn} {x:.1} {y:.1})\"") };
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"#{r:02x}{g:02x}{b:02x}\"{size_text}{turned}>{text}\
             </text>",
            y + size / 3.0
        );
    }
}

impl Svg {
    fn path(&mut self, places: &[At]) {
        for (number, [x, y]) in places.iter().enumerate() {
            let _ = write!(self.0, "{}{x:.2} {y:.2}", if number == 0 { "M" } else { "L" });
        }
    }
}
