# SPDX-License-Identifier: Apache-2.0
"""A learner by six categories of five traits. Each category is a union: one of its traits counts.

    python3 -m chunkproof.schema learner.py -o learner.xml
    python3 -m chunkproof.prompt learner.py -o ann.xml grade="middle school" level=beginner \
        history="studied a year before" style=auditory test=essay \
        motivation="high intrinsic motivation" task="Say in two sentences who the learner is."
"""
from collections.abc import Iterator
from typing import Literal

from chunkproof.program import prompt, system, user

Grade = Literal["primary school", "middle school", "high school", "college", "evening classes"]
Level = Literal["newcomer", "beginner", "intermediate", "advanced", "expert"]
History = Literal["never studied", "studied a month before", "studied a year before",
                  "studied long ago", "studies it now"]
Style = Literal["visual", "auditory", "reading", "by hand", "in company"]
Test = Literal["essay", "quiz", "talk", "project", "portfolio"]
Motivation = Literal["high intrinsic motivation", "low intrinsic motivation",
                     "high extrinsic motivation", "low extrinsic motivation", "mixed motivation"]


@prompt(task=60)
def learner(grade: Grade, level: Level, history: History, style: Style, test: Test,
            motivation: Motivation, task: str) -> Iterator[str]:
    with system:
        yield "You are a teacher. Six notes on a learner follow. "
        match grade:
            case "primary school":
                yield ("The learner goes to primary school, reads slowly, and is used to one "
                       "teacher for all. ")
            case "middle school":
                yield ("The learner left primary school not long ago, and has a new teacher for "
                       "each subject. ")
            case "high school":
                yield "The learner goes to high school, and has final examinations in sight. "
            case "college":
                yield "The learner goes to college, and divides the hours of the week alone. "
            case "evening classes":
                yield "The learner works by day, and comes to class in the evening. "
        match level:
            case "newcomer":
                yield ("The learner has not met a word of the subject, so that each term needs a "
                       "picture. ")
            case "beginner":
                yield "The learner takes the first steps: knows a few terms, and needs examples. "
            case "intermediate":
                yield ("The learner solves what was shown before, and is stuck where it looks "
                       "different. ")
            case "advanced":
                yield "The learner solves most problems, and asks why a method works. "
            case "expert":
                yield "The learner could teach the subject, and looks for what is open in it. "
        match history:
            case "never studied":
                yield "The learner never had a lesson in it. "
            case "studied a month before":
                yield "The learner had lessons until last month, and remembers most of them. "
            case "studied a year before":
                yield "The learner had lessons a year ago, and remembers the outline alone. "
            case "studied long ago":
                yield "The learner had lessons many years ago, under names that nobody uses now. "
            case "studies it now":
                yield "The learner has other lessons in it this term, too. "
        match style:
            case "visual":
                yield "The learner learns from drawings, charts and colours. "
            case "auditory":
                yield "The learner learns by ear: from talks, rhymes and what is read aloud. "
            case "reading":
                yield "The learner learns from books, and writes summaries. "
            case "by hand":
                yield "The learner learns from building things and taking them apart. "
            case "in company":
                yield "The learner learns in groups, by explaining things to others. "
        match test:
            case "essay":
                yield ("The learner is graded by an essay: what counts is how the thoughts are "
                       "joined. ")
            case "quiz":
                yield "The learner is graded by a quiz of many short questions. "
            case "talk":
                yield "The learner is graded by a talk, with questions from the class. "
            case "project":
                yield "The learner is graded by a project of some weeks. "
            case "portfolio":
                yield "The learner is graded by all papers of the year, in a folder. "
        match motivation:
            case "high intrinsic motivation":
                yield "The learner is curious, and goes on when nobody looks. "
            case "low intrinsic motivation":
                yield "The learner finds the subject dull, and has to be won for it. "
            case "high extrinsic motivation":
                yield "The learner wants the grade badly, for a place that depends on it. "
            case "low extrinsic motivation":
                yield "The learner does not care for grades. "
            case "mixed motivation":
                yield "The learner is eager on some days, and absent on others. "
    with user:
        yield task
