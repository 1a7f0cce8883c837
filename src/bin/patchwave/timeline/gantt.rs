//! The Gantt picture: a panel a mode, a row a compute unit, all on one time axis.
//!
//! A row is as high as a compute unit has wave slots; what is coloured of it, column by column, is how many of them run
//! waves of each kind. So a handful of threadgroups and 65,536 make pictures of the same size.

use patchwave::hardware::timeline::{SpanKind, Timeline};

use crate::canvas::{Anchor, Canvas, Colour, Drawing, Rect};
use crate::scene::mode::Mode;

/// One mode's timeline.
pub(crate) struct Panel {
    pub(crate) mode: Mode,
    pub(crate) timeline: Timeline,
}

/// The picture.
pub(crate) struct Gantt<'a> {
    pub(crate) title: &'a str,
    pub(crate) panels: &'a [Panel],
}

/// Columns of a row, one unit wide each.
const COLUMNS: usize = 1080;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
/// Title and legend.
const TOP: f64 = 64.0;
const PANEL_TITLE: f64 = 26.0;
const ROW: f64 = 17.0;
const ROW_GAP: f64 = 3.0;
/// The strip of LDS below a panel's rows.
const LDS: f64 = 30.0;
const AXIS: f64 = 24.0;
const PANEL_GAP: f64 = 14.0;

const INK: Colour = [34, 40, 49];
const PALE: Colour = [110, 118, 128];
const TRACK: Colour = [240, 242, 245];
const GRID: Colour = [222, 226, 231];
const END: Colour = [34, 40, 49];
const LDS_COLOUR: Colour = [125, 137, 150];

/// Colours that stay apart for colour-blind eyes (after Okabe and Ito).
fn colour(kind: SpanKind) -> Colour {
    match kind {
        SpanKind::Vertex => [86, 180, 233],
        SpanKind::Hull => [0, 114, 178],
        SpanKind::OnChipDomain => [230, 159, 0],
        SpanKind::OffChipDomain => [0, 158, 115],
    }
}

fn name(kind: SpanKind) -> &'static str {
    match kind {
        SpanKind::Vertex => "VS",
        SpanKind::Hull => "HS",
        SpanKind::OnChipDomain => "DS on-chip",
        SpanKind::OffChipDomain => "DS off-chip",
    }
}

impl Gantt<'_> {
    fn units(&self) -> usize {
        self.panels.iter().map(|panel| panel.timeline.compute_units.len()).max().unwrap_or(0)
    }

    fn rows(&self) -> f64 {
        self.units() as f64 * (ROW + ROW_GAP)
    }

    fn panel_height(&self) -> f64 {
        PANEL_TITLE + self.rows() + LDS + AXIS + PANEL_GAP
    }

    /// The end of the time axis.
    fn end(&self) -> f64 {
        let longest = self.panels.iter().map(|panel| panel.timeline.makespan).fold(0.0, f64::max);
        if longest > 0.0 { longest } else { 1.0 }
    }

    fn x(&self, time: f64) -> f64 {
        LEFT + time / self.end() * COLUMNS as f64
    }
}

impl Drawing for Gantt<'_> {
    fn size(&self) -> [u32; 2] {
        let width = LEFT + COLUMNS as f64 + RIGHT;
        let height = TOP + self.panel_height() * self.panels.len() as f64;
        [width.ceil() as u32, height.ceil() as u32]
    }

    fn draw(&self, canvas: &mut dyn Canvas) {
        let title =
            format!("{}: wave slots of each compute unit over time, in the unit of the costs (a model)", self.title);
        canvas.text([LEFT, 18.0], Anchor::Start, INK, &title);
        let mut x = LEFT;
        for kind in SpanKind::ALL {
            x = legend(canvas, x, colour(kind), name(kind));
        }
        legend(canvas, x, LDS_COLOUR, "LDS held, of all compute units");
        for (i, panel) in self.panels.iter().enumerate() {
            self.draw_panel(canvas, panel, TOP + i as f64 * self.panel_height());
        }
    }
}

/// A swatch and its meaning; where the next one goes.
fn legend(canvas: &mut dyn Canvas, x: f64, colour: Colour, text: &str) -> f64 {
    canvas.rects(colour, &[[x, 36.0, 12.0, 12.0]]);
    canvas.text([x + 18.0, 42.0], Anchor::Start, INK, text);
    x + 18.0 + text.chars().count() as f64 * 8.0 + 22.0
}

impl Gantt<'_> {
    fn draw_panel(&self, canvas: &mut dyn Canvas, panel: &Panel, top: f64) {
        let Panel { mode, timeline } = panel;
        let words = format!(
            "{}: makespan {:.1}, utilisation {:.1} %, LDS held {:.1} %",
            mode.name(),
            timeline.makespan,
            timeline.utilisation() * 100.0,
            timeline.lds_occupancy() * 100.0
        );
        canvas.text([LEFT, top + PANEL_TITLE / 2.0], Anchor::Start, INK, &words);
        let rows = top + PANEL_TITLE;
        let lds = rows + self.rows();
        let bottom = lds + LDS;

        let unit_top = |unit: usize| rows + unit as f64 * (ROW + ROW_GAP);
        let tracks: Vec<Rect> = (0..self.units()).map(|unit| [LEFT, unit_top(unit), COLUMNS as f64, ROW]).collect();
        canvas.rects(TRACK, &tracks);
        for unit in 0..self.units() {
            canvas.text([LEFT - 8.0, unit_top(unit) + ROW / 2.0], Anchor::End, PALE, &format!("CU {unit}"));
        }
        canvas.rects(TRACK, &[[LEFT, lds, COLUMNS as f64, LDS]]);
        canvas.text([LEFT - 8.0, lds + LDS / 2.0], Anchor::End, PALE, "LDS");
        self.draw_axis(canvas, rows, bottom);

        let slots = self.slots(timeline);
        for kind in SpanKind::ALL {
            let mut rects = Vec::new();
            for (unit, columns) in slots.iter().enumerate() {
                push_bars(&mut rects, columns, kind, unit_top(unit));
            }
            canvas.rects(colour(kind), &rects);
        }
        let held = self.lds(timeline);
        let bars = held.iter().enumerate().filter(|(_, held)| **held > 0.0);
        let bars: Vec<Rect> = bars.map(|(i, held)| [LEFT + i as f64, bottom - held * LDS, 1.0, held * LDS]).collect();
        canvas.rects(LDS_COLOUR, &bars);
        canvas.rects(END, &[[self.x(timeline.makespan) - 0.75, rows, 1.5, bottom - rows]]);
    }

    fn draw_axis(&self, canvas: &mut dyn Canvas, top: f64, bottom: f64) {
        let step = nice_step(self.end());
        let mut ticks = Vec::new();
        for i in 0..=(self.end() / step).floor() as u32 {
            let time = f64::from(i) * step;
            ticks.push([self.x(time) - 0.5, top, 1.0, bottom - top + 4.0]);
            canvas.text([self.x(time), bottom + 13.0], Anchor::Middle, PALE, &format!("{}", Rounded(time)));
        }
        canvas.rects(GRID, &ticks);
    }

    /// How much of its slots each compute unit uses in each column, by kind.
    fn slots(&self, timeline: &Timeline) -> Vec<Vec<[f64; 4]>> {
        let mut slots = vec![vec![[0.0; 4]; COLUMNS]; self.units()];
        let per_column = self.end() / COLUMNS as f64;
        let all = f64::from(timeline.wave_slots.max(1));
        for span in &timeline.spans {
            let Some(columns) = slots.get_mut(span.compute_unit as usize) else { continue };
            for (column, covered) in covered(span.begin / per_column, span.end / per_column) {
                if let Some(column) = columns.get_mut(column) {
                    column[kind_index(span.kind)] += covered * f64::from(span.waves) / all;
                }
            }
        }
        slots
    }

    /// How much of all LDS is held in each column.
    fn lds(&self, timeline: &Timeline) -> Vec<f64> {
        let mut held = vec![0.0; COLUMNS];
        let per_column = self.end() / COLUMNS as f64;
        let all = f64::from(timeline.lds_bytes.max(1)) * timeline.compute_units.len().max(1) as f64;
        let mut since = vec![(0.0, 0.0); timeline.compute_units.len()];
        for step in &timeline.lds {
            let Some((begin, bytes)) = since.get_mut(step.compute_unit as usize) else { continue };
            for (column, covered) in covered(*begin / per_column, step.time / per_column) {
                if let Some(held) = held.get_mut(column) {
                    *held += covered * *bytes / all;
                }
            }
            (*begin, *bytes) = (step.time, step.bytes as f64);
        }
        held
    }
}

fn kind_index(kind: SpanKind) -> usize {
    SpanKind::ALL.iter().position(|other| *other == kind).unwrap_or(0)
}

/// The columns between two places, and how much of each lies between them.
fn covered(begin: f64, end: f64) -> impl Iterator<Item = (usize, f64)> {
    let last = (end.ceil() as usize).min(COLUMNS);
    (begin as usize..last).map(move |column| {
        let left = column as f64;
        (column, (end.min(left + 1.0) - begin.max(left)).max(0.0))
    })
}

/// The bars of one kind in one row, stacked on those of the kinds before it; columns of the same height make one.
fn push_bars(rects: &mut Vec<Rect>, columns: &[[f64; 4]], kind: SpanKind, top: f64) {
    let index = kind_index(kind);
    let mut open: Option<Rect> = None;
    for (i, column) in columns.iter().enumerate() {
        let below: f64 = column[..index].iter().sum();
        let height = column[index] * ROW;
        let bar = [LEFT + i as f64, top + ROW - below * ROW - height, 1.0, height];
        match &mut open {
            // A hundredth is finer than anybody sees.
            Some(rect) if height > 0.0 && (rect[1] - bar[1]).abs() < 0.01 && (rect[3] - bar[3]).abs() < 0.01 => {
                rect[2] += 1.0;
            }
            _ => {
                rects.extend(open.take());
                open = (height > 0.0).then_some(bar);
            }
        }
    }
    rects.extend(open);
}

/// A step of 1, 2 or 5 times a power of ten that divides the axis into about eight.
fn nice_step(end: f64) -> f64 {
    let rough = end / 8.0;
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough).unwrap_or(10.0);
    factor * power
}

/// A tick without the digits that adding up left.
struct Rounded(f64);

impl std::fmt::Display for Rounded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", (self.0 * 1e6).round() / 1e6)
    }
}
