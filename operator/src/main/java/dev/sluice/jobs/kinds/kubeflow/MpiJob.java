package dev.sluice.jobs.kinds.kubeflow;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobKindDescription.FieldDefault;
import java.util.List;

/**
 * MPIJobs: one launcher, and workers. A launcher that works, too, has the first place among the
 * workers: places of workers are then counted from 1.
 */
public final class MpiJob extends KubeflowJob {

  private static final String REPLICAS = "mpiReplicaSpecs";
  private static final String LAUNCHER = "Launcher";
  private static final String WORKER = "Worker";

  /** The kind. */
  public MpiJob() {
    super("v2beta1", "MPIJob", "kubeflow.org/mpi-operator", REPLICAS, List.of(LAUNCHER, WORKER));
  }

  @Override
  int count(String type, JsonNode replica) {
    return type.equals(LAUNCHER) ? 1 : super.count(type, replica);
  }

  @Override
  public List<FieldDefault> defaults(JsonNode object) {
    JsonNode launcher = replica(object, LAUNCHER);
    JsonNode worker = replica(object, WORKER);
    boolean counted =
        launcher.isObject()
            && worker.isObject()
            && JsonFields.at(object, "spec", "runLauncherAsWorker").asBoolean()
            && !isInGroup(launcher)
            && !isInGroup(worker)
            && !annotations(worker).has(KueueConstants.POD_INDEX_OFFSET);
    return counted
        ? List.of(
            new FieldDefault(
                List.of(
                    "spec",
                    REPLICAS,
                    field(object, WORKER),
                    "template",
                    "metadata",
                    "annotations",
                    KueueConstants.POD_INDEX_OFFSET),
                TextNode.valueOf("1")))
        : List.of();
  }

  private static boolean isInGroup(JsonNode replica) {
    return annotations(replica).has(KueueConstants.PODSET_GROUP_NAME);
  }

  private static JsonNode annotations(JsonNode replica) {
    return JsonFields.at(replica, "template", "metadata", "annotations");
  }
}
