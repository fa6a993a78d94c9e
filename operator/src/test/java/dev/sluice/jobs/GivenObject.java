package dev.sluice.jobs;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.kube.json.JsonMergePatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Jobs of any kind as YAML, and what becomes of them by their integration. */
public final class GivenObject {

  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  private GivenObject() {}

  /** The object that is written. */
  public static ObjectNode yaml(String yaml) {
    try {
      return (ObjectNode) YAML.readTree(yaml);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** The object with this status. */
  public static ObjectNode status(ObjectNode object, String yaml) {
    ObjectNode copy = object.deepCopy();
    copy.set("status", yaml(yaml));
    return copy;
  }

  /** The object with a merge patch, written as YAML. */
  public static ObjectNode with(ObjectNode object, String yaml) {
    return JsonMergePatch.applied(object, yaml(yaml));
  }

  /** The name and count of each pod set, in order, as in {@code worker=3}. */
  public static List<String> podSets(JobIntegration kind, JsonNode object) {
    return kind.podSets(object).stream().map(it -> it.name() + "=" + it.count()).toList();
  }

  /** What a start gives to every pod set: a label, a node selector, a toleration. */
  public static List<PodSetInfo> infos(JobIntegration kind, JsonNode object) {
    List<PodSetInfo> infos = new ArrayList<>();
    for (PodSetTemplate podSet : kind.podSets(object)) {
      infos.add(
          new PodSetInfo(
              podSet.name(),
              podSet.count(),
              Map.of("kueue.x-k8s.io/podset", podSet.name()),
              Map.of("kueue.x-k8s.io/workload", "w"),
              Map.of("pool", "of-" + podSet.name()),
              List.of(yaml("{key: spot, operator: Exists}")),
              List.of("kueue.x-k8s.io/topology")));
    }
    return infos;
  }

  /** The object after its start. */
  public static ObjectNode started(JobIntegration kind, ObjectNode object)
      throws StartConflictException {
    return applied(object, kind.start(object, infos(kind, object)));
  }

  /** The object after its stop, which takes as many patches as it takes. */
  public static ObjectNode stopped(
      JobIntegration kind, ObjectNode object, Optional<List<PodSetTemplate>> original) {
    ObjectNode result = object;
    for (int step = 0; step < 8; step++) {
      Optional<JobPatch> patch = kind.nextStopStep(result, original);
      if (patch.isEmpty()) {
        return result;
      }
      result = applied(result, List.of(patch.get()));
    }
    throw new AssertionError("the stop does not end: " + result);
  }

  private static ObjectNode applied(ObjectNode object, List<JobPatch> patches) {
    ObjectNode result = object;
    for (JobPatch patch : patches) {
      result = JsonMergePatch.applied(result, patch.body());
    }
    return result;
  }
}
