package dev.sluice.lab.demo;

/** Listener for the progress of a scenario. */
public interface ProgressListener {

  /** A step starts or has completed. */
  void say(String line);

  /** The scenario waits for something; an empty text says that it has come. */
  void waits(String what);

  /** An expectation was judged. */
  void judged(ExpectationResult expectationResult);
}
