package dev.sluice.kube.events;

/** Counts what became of recorded events. Called from any thread. */
public interface EventCounter {

  /** An event was written to the API server. */
  void written();

  /** An event was merged into the series of one that was written before. */
  void aggregated();

  /** An event was not written because too many were waiting. */
  void dropped();

  /** The API server refused an event or did not answer. */
  void failed();
}
