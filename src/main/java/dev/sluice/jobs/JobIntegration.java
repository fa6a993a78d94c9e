package dev.sluice.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;

/**
 * What the framework needs to know of a kind of job. Pure functions of the object's JSON: they keep
 * nothing, write nothing and leave their arguments as they are.
 */
public interface JobIntegration {

  /** The kind. */
  JobKind kind();

  /** How the job stands. */
  JobState state(JsonNode object);

  /**
   * How the job stands by what it tells of its status in another cluster; empty when it tells
   * nothing of it. Anybody can have written that: whoever believes it has to know that the job runs
   * there.
   */
  default Optional<JobState> told(JsonNode object) {
    return Optional.empty();
  }

  /** Its pod sets, in the order in which Workloads list them. */
  List<PodSetTemplate> podSets(JsonNode object);

  /** The priority class that a field of the kind names; empty when it names none. */
  default String priorityClass(JsonNode object) {
    return "";
  }

  /**
   * The writes that start a suspended job with what its pod sets were given, in order; the last of
   * them is the one that lets it run.
   *
   * @throws StartConflictException if template and grant contradict each other
   */
  List<JobPatch> start(ObjectNode object, List<PodSetInfo> starts) throws StartConflictException;

  /**
   * The next write on the way to a job that is stopped and looks as if it had never been started.
   * It is asked again with the object that resulted, until it answers empty; the way can be picked
   * up from any point of it.
   *
   * @param original the pod sets as they were before the start; empty when nobody knows any more,
   *     in which case the templates stay as they are
   */
  Optional<JobPatch> nextStopStep(JsonNode object, Optional<List<PodSetTemplate>> original);

  /**
   * How jobs of a kind end that can't be suspended and run again: they are deleted. Empty for kinds
   * that can.
   */
  default Optional<JobStopProcedure> ending() {
    return Optional.empty();
  }
}
