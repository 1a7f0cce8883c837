//! What comes from the GPU behind a frame, some frames later.

use patchwave::Error;
use patchwave::hardware::Statistics;
use patchwave::pipeline::DrawReport;

use super::times::PassTimes;

/// An answer.
pub(super) enum News {
    /// What a draw came to.
    Report { of: Question, report: Result<DrawReport, Error> },
    /// The same in detail.
    Statistics { of: Question, statistics: Result<Statistics, Error> },
    /// What the passes of a frame took.
    Times(PassTimes),
}

/// What was asked: of the frames of which inputs, and of which draw of theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) inputs: u64,
    pub(super) draw: usize,
}

/// One kind of answers about the draws of a frame. A round asks about each draw once; the next begins when it is through, so
/// that answers also come while every frame is another.
#[derive(Clone, Debug)]
pub(super) struct Answers<T> {
    /// Of the round: what it is about, which draws were asked about, and what was answered.
    inputs: u64,
    asked: Vec<bool>,
    answers: Vec<Option<T>>,
    /// Whether it is not through.
    is_under_way: bool,
    /// The answers of the last round that was answered wholly.
    known: Option<(u64, Vec<T>)>,
    /// What the last round that failed was about.
    failed: Option<u64>,
}

impl<T> Answers<T> {
    pub(super) fn new() -> Self {
        let (asked, answers) = (Vec::new(), Vec::new());
        Self { inputs: 0, asked, answers, is_under_way: false, known: None, failed: None }
    }

    /// Begins a round about the frames of these inputs, of so many draws, where none is under way and there has been none
    /// about them.
    pub(super) fn begin(&mut self, inputs: u64, draws: usize) {
        if self.is_under_way || self.is_through(inputs) {
            return;
        }
        self.inputs = inputs;
        self.asked = vec![false; draws];
        self.answers = (0..draws).map(|_| None).collect();
        self.is_under_way = true;
        self.close();
    }

    /// The next question of the round, if a draw has not been asked about.
    pub(super) fn question(&self) -> Option<Question> {
        let draw = self.asked.iter().position(|asked| !asked).filter(|_| self.is_under_way)?;
        Some(Question { inputs: self.inputs, draw })
    }

    /// Notes that the question is under way.
    pub(super) fn ask(&mut self, question: Question) {
        if let Some(asked) = self.asked.get_mut(question.draw) {
            *asked = true;
        }
    }

    /// Takes an answer of the round. A failure is given back, and ends the round.
    pub(super) fn answer<E>(&mut self, question: Question, answer: Result<T, E>) -> Option<E> {
        let is_of_round = self.is_under_way && question.inputs == self.inputs;
        let place = self.answers.get_mut(question.draw).filter(|_| is_of_round)?;
        match answer {
            Ok(answer) => {
                *place = Some(answer);
                self.close();
                None
            }
            Err(error) => {
                self.is_under_way = false;
                self.failed = Some(self.inputs);
                Some(error)
            }
        }
    }

    fn close(&mut self) {
        if self.answers.iter().all(Option::is_some) {
            self.known = Some((self.inputs, self.answers.drain(..).flatten().collect()));
            self.is_under_way = false;
        }
    }

    /// Whether there has been a round about these inputs.
    pub(super) fn is_through(&self, inputs: u64) -> bool {
        self.failed == Some(inputs) || self.known.as_ref().is_some_and(|(of, _)| *of == inputs)
    }

    /// What was last known, of these inputs or of earlier ones: what it is about, and the answer of each draw.
    pub(super) fn known(&self) -> Option<(u64, &[T])> {
        self.known.as_ref().map(|(of, answers)| (*of, answers.as_slice()))
    }
}

/// The statistics of all draws together.
pub(super) fn together(all: &[Statistics]) -> Statistics {
    let mut sum = Statistics::default();
    for one in all {
        sum.ia_vertices += one.ia_vertices;
        sum.ia_primitives += one.ia_primitives;
        sum.vs_invocations += one.vs_invocations;
        sum.hs_invocations += one.hs_invocations;
        sum.ds_invocations += one.ds_invocations;
        sum.threadgroups += one.threadgroups;
        sum.off_chip_threadgroups += one.off_chip_threadgroups;
        sum.culled_patches += one.culled_patches;
        sum.primitives += one.primitives;
        for (sum, one) in [(&mut sum.vertex, &one.vertex), (&mut sum.hull, &one.hull), (&mut sum.domain, &one.domain)] {
            sum.threads += one.threads;
            sum.waves += one.waves;
        }
        sum.on_chip_waves += one.on_chip_waves;
        sum.off_chip_waves += one.off_chip_waves;
        sum.off_chip_bytes += one.off_chip_bytes;
        sum.lds_bytes += one.lds_bytes;
        sum.average_factors.extend(&one.average_factors);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_asks_about_each_draw_once() {
        let mut answers = Answers::<u32>::new();
        answers.begin(7, 2);
        let first = answers.question().expect("nothing was asked");
        answers.ask(first);
        let second = answers.question().expect("one is left");
        assert_eq!((first.draw, second.draw), (0, 1));
        answers.ask(second);
        assert_eq!(answers.question(), None);
        assert_eq!(answers.answer(first, Ok::<_, ()>(1)), None);
        assert!(answers.known().is_none() && !answers.is_through(7));
        assert_eq!(answers.answer(second, Ok::<_, ()>(2)), None);
        assert_eq!(answers.known(), Some((7, &[1, 2][..])));
        // What is known is not asked again.
        answers.begin(7, 2);
        assert_eq!(answers.question(), None);
    }

    #[test]
    fn answers_come_though_every_frame_is_another() {
        let mut answers = Answers::<u64>::new();
        let mut under_way = None;
        let mut known = Vec::new();
        for frame in 0..10 {
            answers.begin(frame, 1);
            if let Some(question) = answers.question() {
                answers.ask(question);
                under_way = Some((frame, question));
            }
            // The answer comes two frames later.
            if let Some((asked, question)) = under_way.filter(|(asked, _)| asked + 2 == frame) {
                assert_eq!(answers.answer(question, Ok::<_, ()>(asked)), None);
                known.extend(answers.known().map(|(of, _)| of));
            }
        }
        assert_eq!(known, [0, 3, 6]);
    }

    #[test]
    fn a_failure_ends_a_round_and_is_not_asked_about_again() {
        let mut answers = Answers::<u32>::new();
        answers.begin(3, 2);
        let (first, second) = (Question { inputs: 3, draw: 0 }, Question { inputs: 3, draw: 1 });
        answers.ask(first);
        assert_eq!(answers.answer(first, Err("lost")), Some("lost"));
        assert!(answers.is_through(3));
        answers.begin(3, 2);
        assert_eq!(answers.question(), None);
        answers.begin(4, 1);
        // Late answers of the round before mean nothing.
        assert_eq!(answers.answer(second, Ok::<_, ()>(5)), None);
        assert_eq!(answers.answer(second, Err("late")), None);
        assert_eq!((answers.known(), answers.question().map(|of| of.inputs)), (None, Some(4)));
        // Of no draws everything is known.
        let mut none = Answers::<u32>::new();
        none.begin(1, 0);
        assert!(none.is_through(1));
    }

    #[test]
    fn statistics_add_up() {
        let one = Statistics { ia_primitives: 3, average_factors: vec![2.0], ..Statistics::default() };
        let both = together(&[one.clone(), one]);
        assert_eq!((both.ia_primitives, both.mean_average_factor(), both.average_factors.len()), (6, 2.0, 2));
    }
}
