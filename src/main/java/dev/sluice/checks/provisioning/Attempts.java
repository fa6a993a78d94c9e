package dev.sluice.checks.provisioning;

import org.jspecify.annotations.Nullable;

/** Actions of one reconciliation, none of which keeps the others from being tried. */
final class Attempts {

  private @Nullable RuntimeException failure;

  /**
   * An action whose failure is no defect.
   *
   * @param <T> its result
   */
  interface Action<T> {

    /** Runs it. */
    T run() throws InterruptedException;
  }

  /** Runs an action; if it fails, the result is the other one. */
  <T> T attempt(Action<T> action, T otherwise) throws InterruptedException {
    try {
      return action.run();
    } catch (RuntimeException e) {
      if (failure == null) {
        failure = e;
      } else {
        failure.addSuppressed(e);
      }
      return otherwise;
    }
  }

  /** Throws the first failure, with the others, so that all is tried again. */
  void throwFailure() {
    if (failure != null) {
      throw failure;
    }
  }
}
