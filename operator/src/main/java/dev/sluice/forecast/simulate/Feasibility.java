package dev.sluice.forecast.simulate;

/** Whether a Workload would get quota, as things are. */
public enum Feasibility {
  /** The next cycles would give it quota. */
  NOW("Now"),
  /** The next cycles would preempt others for it. */
  AFTER_PREEMPTION("AfterPreemption"),
  /** It would wait until others end; or it takes too long to find out whether it ever starts. */
  LATER("Later"),
  /** It wouldn't get quota even if everything that runs and waits had ended. */
  NEVER("Never");

  private final String apiName;

  Feasibility(String apiName) {
    this.apiName = apiName;
  }

  /** The name that people read. */
  public String apiName() {
    return apiName;
  }
}
