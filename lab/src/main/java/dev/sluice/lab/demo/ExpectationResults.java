package dev.sluice.lab.demo;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Results of a scenario's expectations; each is reported as soon as it is known. */
final class ExpectationResults<E extends Enum<E> & Expectation> {

  private final Class<E> expectations;
  private final ProgressListener progressListener;
  private final Map<E, ExpectationResult> judged;

  ExpectationResults(Class<E> expectations, ProgressListener progressListener) {
    this.expectations = expectations;
    this.progressListener = progressListener;
    this.judged = new EnumMap<>(expectations);
  }

  /** Records that an expectation was met, or the fault; the detail is reported if it was met. */
  void judge(E expectation, Optional<String> fault, String detail) {
    ExpectationResult expectationResult =
        new ExpectationResult(expectation, fault.isEmpty(), fault.orElse(detail));
    judged.put(expectation, expectationResult);
    progressListener.judged(expectationResult);
  }

  /** Whether the expectation was judged already. */
  boolean has(E expectation) {
    return judged.containsKey(expectation);
  }

  /** Runs a scenario to its end or to the first failure; returns one result per expectation. */
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
