package dev.sluice.lab.demo;

/** Is told how the story goes on. */
public interface ProgressListener {

  /** Something happens, or is about to. */
  void say(String line);

  /** An expectation was judged. */
  void judged(ExpectationResult expectationResult);
}
