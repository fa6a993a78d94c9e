package dev.sluice.cli.demo;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** What was found of the expectations of a story; each is told as soon as it is judged. */
final class Verdicts<E extends Enum<E> & Expectation> {

  private final Class<E> expectations;
  private final Narrator narrator;
  private final Map<E, Verdict> judged;

  Verdicts(Class<E> expectations, Narrator narrator) {
    this.expectations = expectations;
    this.narrator = narrator;
    this.judged = new EnumMap<>(expectations);
  }

  /** An expectation held, or didn't for this fault; the detail is told if it held. */
  void judge(E expectation, Optional<String> fault, String detail) {
    Verdict verdict = new Verdict(expectation, fault.isEmpty(), fault.orElse(detail));
    judged.put(expectation, verdict);
    narrator.judged(verdict);
  }

  /** Whether it was judged already. */
  boolean has(E expectation) {
    return judged.containsKey(expectation);
  }

  /** Has a story played to its end, or to the point where it can't go on; one for each. */
  List<Verdict> of(Runnable story) {
    String stop = "the story did not come so far";
    try {
      story.run();
    } catch (StoryException e) {
      stop = Objects.requireNonNull(e.getMessage());
      narrator.say(stop);
    }
    List<Verdict> all = new ArrayList<>();
    for (E expectation : expectations.getEnumConstants()) {
      Verdict verdict = judged.get(expectation);
      if (verdict == null) {
        verdict = new Verdict(expectation, false, stop);
        narrator.judged(verdict);
      }
      all.add(verdict);
    }
    return all;
  }
}
