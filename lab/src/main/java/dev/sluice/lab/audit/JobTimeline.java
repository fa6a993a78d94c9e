package dev.sluice.lab.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;

/** State of one Job during the replay, with counts of its starts, evictions and pods. */
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
  private int podsSucceededWhileTerminating;
  private int podsLost;
  private String workload = "";

  /** Processes a change of the Job. */
  void observe(ObjectChange objectChange) {
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
    observe(job.path("spec").path("template"), ran);
  }

  /**
   * Tracks changes of the template, which are allowed when the Job starts and after it was stopped.
   */
  private void observe(JsonNode current, boolean ran) {
    boolean mayChange = template.isMissingNode() || ran != runs || (!runs && starts > 0);
    templateTouched = !mayChange && !template.equals(current);
    template = current;
  }

  void evicted() {
    evictions++;
  }

  /** Records the Job's Workload; false if the Job has another one. */
  boolean claim(String workloadUid) {
    boolean free = workload.isEmpty() || workload.equals(workloadUid);
    if (free) {
      workload = workloadUid;
    }
    return free;
  }

  /** Records that the Job has slices; all of them together stand for its Workload. */
  void claimForSlices(String holder) {
    workload = holder;
  }

  void release(String workloadUid) {
    if (workload.equals(workloadUid)) {
      workload = "";
    }
  }

  void podMade() {
    podsMade++;
  }

  /**
   * A pod that has not ended is being deleted: the Job controller counts it as failed from now on
   * and may replace it (pod replacement policy {@code TerminatingOrFailed}).
   */
  void podTerminating() {
    podsLost++;
  }

  /**
   * A pod has ended. One that succeeds while it is being deleted may count either way: it depends
   * on which of its changes the Job controller observed first.
   */
  void podEnded(String phase, boolean terminating) {
    boolean succeeded = phase.equals("Succeeded");
    if (succeeded && terminating) {
      podsSucceededWhileTerminating++;
    } else if (succeeded) {
      podsSucceeded++;
    } else if (!terminating) {
      podsLost++;
    }
  }

  String name() {
    return name;
  }

  boolean isQueued() {
    return queued;
  }

  /** Whether the Job is unsuspended and has not ended. */
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
   * Whether the Job is being deleted: until the Job controller has observed the deletion, it may
   * still create pods, which are deleted with the Job.
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

  /** The number of pods it may have: its completions, plus one per lost pod. */
  int podsAllowed() {
    return completions == Integer.MAX_VALUE ? completions : completions + podsLost;
  }

  /** Whether it completed with exactly the requested number of pods. */
  boolean completedWhole() {
    return !end.equals("Complete")
        || completions == Integer.MAX_VALUE
        || (podsSucceeded <= completions
            && podsSucceeded + podsSucceededWhileTerminating >= completions);
  }

  JobRecord record() {
    return new JobRecord(name, starts, evictions, podsMade, podsSucceeded, end);
  }
}
