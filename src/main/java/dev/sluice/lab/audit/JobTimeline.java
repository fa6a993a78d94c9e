package dev.sluice.lab.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;

/** What is known of one Job, and of what was done for it. */
final class JobTimeline {

  private String name = "";
  private boolean queued;
  private boolean runs;
  private int completions;
  private String end = "";
  private JsonNode template = MissingNode.getInstance();
  private boolean templateTouched;
  private int starts;
  private int evictions;
  private int podsMade;
  private int podsSucceeded;
  private int podsLost;
  private String workload = "";

  /** Reads a change of the Job itself. */
  void see(ObjectChange objectChange) {
    JsonNode job = objectChange.object();
    boolean ran = runs;
    boolean suspended = job.path("spec").path("suspend").asBoolean();
    name = ObjectReader.name(job);
    queued = ObjectReader.isQueued(job);
    completions = job.path("spec").path("completions").asInt(Integer.MAX_VALUE);
    end = ObjectReader.end(job);
    boolean leaving = objectChange.deleted() || job.path("metadata").has("deletionTimestamp");
    if (end.isEmpty() && leaving) {
      end = "Deleted";
    }
    runs = !suspended && end.isEmpty();
    if (runs && !ran) {
      starts++;
    }
    see(job.path("spec").path("template"), ran);
  }

  /** The template may change when the Job starts, and after it was stopped. */
  private void see(JsonNode current, boolean ran) {
    boolean mayChange = template.isMissingNode() || ran != runs || (!runs && starts > 0);
    templateTouched = !mayChange && !template.equals(current);
    template = current;
  }

  void evicted() {
    evictions++;
  }

  /** Makes a Workload the Job's one; false when it has another. */
  boolean claim(String workloadUid) {
    boolean free = workload.isEmpty() || workload.equals(workloadUid);
    if (free) {
      workload = workloadUid;
    }
    return free;
  }

  void release(String workloadUid) {
    if (workload.equals(workloadUid)) {
      workload = "";
    }
  }

  void podMade() {
    podsMade++;
  }

  void podEnded(String phase) {
    if (phase.equals("Succeeded")) {
      podsSucceeded++;
    } else {
      podsLost++;
    }
  }

  String name() {
    return name;
  }

  boolean isQueued() {
    return queued;
  }

  /** Whether it is unsuspended and has not ended. */
  boolean runs() {
    return runs;
  }

  int starts() {
    return starts;
  }

  int evictions() {
    return evictions;
  }

  boolean templateTouched() {
    return templateTouched;
  }

  /**
   * Whether it is deleted: until the controller of Jobs has heard of that it may make pods still,
   * which go with the Job.
   */
  boolean isLeaving() {
    return end.equals("Deleted");
  }

  /** The uid of its Workload; empty without one. */
  String workload() {
    return workload;
  }

  int podsMade() {
    return podsMade;
  }

  /** As many as it asks for, and one for each that was lost. */
  int podsAllowed() {
    return completions == Integer.MAX_VALUE ? completions : completions + podsLost;
  }

  /** Whether it completed with exactly the pods that it asked for. */
  boolean completedWhole() {
    return !end.equals("Complete")
        || completions == Integer.MAX_VALUE
        || podsSucceeded == completions;
  }

  JobRecord record() {
    return new JobRecord(name, starts, evictions, podsMade, podsSucceeded, end);
  }
}
