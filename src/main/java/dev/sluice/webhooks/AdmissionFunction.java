package dev.sluice.webhooks;

/** Judges one kind of request. Called from many threads at once, and keeps nothing. */
@FunctionalInterface
public interface AdmissionFunction {

  /** What to say. Whatever the user wrote, there is a verdict. */
  AdmissionResult review(AdmissionRequest request);
}
