package dev.sluice.lab.demo;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** What was found of the expectations of a story; each is told as soon as it is judged. */
final class ExpectationResults<E extends Enum<E> & Expectation> {

  private final Class<E> expectations;
  private final ProgressListener progressListener;
  private final Map<E, ExpectationResult> judged;

  ExpectationResults(Class<E> expectations, ProgressListener progressListener) {
    this.expectations = expectations;
    this.progressListener = progressListener;
    this.judged = new EnumMap<>(expectations);
  }

  /** An expectation held, or didn't for this fault; the detail is told if it held. */
  void judge(E expectation, Optional<String> fault, String detail) {
    ExpectationResult expectationResult =
        new ExpectationResult(expectation, fault.isEmpty(), fault.orElse(detail));
    judged.put(expectation, expectationResult);
    progressListener.judged(expectationResult);
  }

  /** Whether it was judged already. */
  boolean has(E expectation) {
    return judged.containsKey(expectation);
  }

  /** Has a story played to its end, or to the point where it can't go on; one for each. */
  List<ExpectationResult> of(Runnable story) {
    String stop = "the story did not come so far";
    try {
      story.run();
    } catch (ScenarioException e) {
      stop = Objects.requireNonNull(e.getMessage());
      progressListener.say(stop);
    }
    List<ExpectationResult> all = new ArrayList<>();
    for (E expectation : expectations.getEnumConstants()) {
      ExpectationResult expectationResult = judged.get(expectation);
      if (expectationResult == null) {
        expectationResult = new ExpectationResult(expectation, false, stop);
        progressListener.judged(expectationResult);
      }
      all.add(expectationResult);
    }
    return all;
  }
}
