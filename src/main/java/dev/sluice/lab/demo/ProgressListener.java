package dev.sluice.lab.demo;

/** Listener for the progress of a scenario. */
public interface ProgressListener {

  /** A step starts or has completed. */
  void say(String line);

  /** An expectation was judged. */
  void judged(ExpectationResult expectationResult);
}
