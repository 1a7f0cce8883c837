//! The times of all combinations as a picture: a panel a number of patches per threadgroup, thresholds along its sides.

use super::{Report, Row};
use crate::canvas::{Anchor, Canvas, Colour, Drawing};

/// The picture of a report.
pub(super) struct Heatmap<'a> {
    report: &'a Report,
    patches: Vec<u32>,
    thresholds: Vec<f32>,
    waves: Vec<u32>,
    /// Fastest and slowest.
    range: [f64; 2],
}

const CELL: [f64; 2] = [62.0, 26.0];
const LEFT: f64 = 90.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 66.0;
const PANEL_TOP: f64 = 46.0;
const PANEL_GAP: f64 = 10.0;
const BOTTOM: f64 = 16.0;
const INK: Colour = [34, 40, 49];
const PALE: Colour = [110, 118, 128];
const BEST: Colour = [214, 40, 40];

/// From fast to slow: light to dark, so that it reads in grey as well (after viridis, turned round).
const RAMP: [Colour; 5] = [[253, 231, 37], [94, 201, 98], [33, 145, 140], [59, 82, 139], [68, 1, 84]];

/// Values in order, each once.
fn distinct<T: Copy + PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

impl<'a> Heatmap<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        let rows = &report.rows;
        let times = || rows.iter().map(|row| row.milliseconds);
        Self {
            report,
            patches: distinct(rows.iter().map(|row| row.patches_per_threadgroup)),
            thresholds: distinct(rows.iter().filter_map(|row| row.factor_threshold)),
            waves: distinct(rows.iter().filter_map(|row| row.wave_threshold)),
            range: [times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max)],
        }
    }

    fn panel_height(&self) -> f64 {
        PANEL_TOP + self.waves.len() as f64 * CELL[1] + PANEL_GAP
    }

    /// Its colour, and whether letters on it are dark. Times are told apart by their ratio.
    fn colour(&self, milliseconds: f64) -> (Colour, Colour) {
        let [fast, slow] = self.range.map(|time| time.max(1e-9).ln());
        let at = if slow > fast { (milliseconds.max(1e-9).ln() - fast) / (slow - fast) } else { 0.0 };
        let place = at.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
        let below = (place as usize).min(RAMP.len() - 2);
        let share = place - below as f64;
        let mut colour = [0; 3];
        for (i, value) in colour.iter_mut().enumerate() {
            let [from, to] = [RAMP[below][i], RAMP[below + 1][i]].map(f64::from);
            *value = (from + (to - from) * share).round() as u8;
        }
        (colour, if at < 0.45 { INK } else { [255; 3] })
    }

    fn cell(&self, canvas: &mut dyn Canvas, row: &Row, [x, y]: [f64; 2]) {
        let (colour, ink) = self.colour(row.milliseconds);
        let [width, height] = CELL;
        if row.milliseconds == self.report.best.milliseconds {
            canvas.rects(BEST, &[[x - 1.5, y - 1.5, width + 1.0, height + 1.0]]);
        }
        canvas.rects(colour, &[[x, y, width - 2.0, height - 2.0]]);
        canvas.text([x + width / 2.0 - 1.0, y + height / 2.0 - 1.0], Anchor::Middle, ink, &milliseconds(row));
    }
}

fn milliseconds(row: &Row) -> String {
    if row.milliseconds < 10.0 { format!("{:.3}", row.milliseconds) } else { format!("{:.1}", row.milliseconds) }
}

impl Drawing for Heatmap<'_> {
    fn size(&self) -> [u32; 2] {
        let columns = self.thresholds.len() as f64 + 1.5;
        let width = (LEFT + columns * CELL[0] + RIGHT).max(620.0);
        [width.ceil() as u32, (TOP + self.panel_height() * self.patches.len() as f64 + BOTTOM).ceil() as u32]
    }

    fn draw(&self, canvas: &mut dyn Canvas) {
        let Report { scene, adapter, clock, .. } = self.report;
        canvas.text([16.0, 18.0], Anchor::Start, INK, &format!("{scene}: milliseconds, {clock}"));
        canvas.text([16.0, 36.0], Anchor::Start, PALE, adapter);
        canvas.text(
            [16.0, 54.0],
            Anchor::Start,
            PALE,
            "along: factor threshold T; down: wave threshold W; framed: the best",
        );
        for (i, &patches) in self.patches.iter().enumerate() {
            let top = TOP + i as f64 * self.panel_height();
            let cells = top + PANEL_TOP;
            canvas.text([16.0, top + 14.0], Anchor::Start, INK, &format!("patches per threadgroup: {patches}"));
            canvas.text([LEFT + CELL[0] / 2.0, top + 34.0], Anchor::Middle, PALE, "on-chip");
            let column = |i: usize| LEFT + (i as f64 + 1.5) * CELL[0];
            for (i, threshold) in self.thresholds.iter().enumerate() {
                canvas.text([column(i) + CELL[0] / 2.0, top + 34.0], Anchor::Middle, PALE, &format!("T {threshold}"));
            }
            for (i, waves) in self.waves.iter().enumerate() {
                let y = cells + (i as f64 + 0.5) * CELL[1];
                canvas.text([LEFT - 10.0, y], Anchor::End, PALE, &format!("W {waves}"));
            }
            for row in self.report.rows.iter().filter(|row| row.patches_per_threadgroup == patches) {
                let place = |values: Option<usize>| values.unwrap_or(0);
                let (x, y) = match (row.factor_threshold, row.wave_threshold) {
                    (Some(threshold), Some(waves)) => (
                        column(place(self.thresholds.iter().position(|other| *other == threshold))),
                        place(self.waves.iter().position(|other| *other == waves)),
                    ),
                    _ => (LEFT, 0),
                };
                self.cell(canvas, row, [x, cells + y as f64 * CELL[1]]);
            }
        }
    }
}
