package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import java.util.Map;

/** Names and marks of QueueUnits. */
final class QueueUnits {

  static final String GROUP = "scheduling.x-k8s.io";
  static final String VERSION = "v1alpha1";
  static final String KIND = "QueueUnit";
  static final String PLURAL = "queueunits";

  /** The label of a unit that shows a Workload; all others are made by extensions. */
  static final String MIRROR = "sluice.dev/mirror";

  /** The annotation of an extension's unit that was told to start, and not to stop since. */
  static final String STARTED = "sluice.dev/started";

  /** The annotation of a unit that shows a Workload: which. */
  static final String WORKLOAD = "sluice.dev/workload";

  /** The annotation that says what such a unit was last written to show of what people may edit. */
  static final String SHOWN = "sluice.dev/shown";

  /** The annotation of a Workload that the unit of an extension made inactive. */
  static final String INACTIVE = "sluice.dev/inactive-by-unit";

  private static final int LONGEST = 253;

  /** What the names of units end with; jobs of other kinds have units of their own name. */
  private static final Map<String, String> SUFFIXES =
      Map.of(
          "TFJob", "-tf-qu",
          "PyTorchJob", "-py-qu",
          "RayJob", "-ray-qu",
          "RayCluster", "-raycluster-qu",
          "SparkApplication", "-spark-qu",
          "MPIJob", "-mpi-qu");

  private QueueUnits() {}

  /** Whether a unit shows a Workload. */
  static boolean isMirror(JsonNode unit) {
    return JsonFields.text(unit, "metadata", "labels", MIRROR).equals("true");
  }

  /** The value of {@link #SHOWN}. */
  static String shown(int priority, boolean active) {
    return shownPriority(priority) + shownActive(active);
  }

  /** How the value of {@link #SHOWN} begins for a priority. */
  static String shownPriority(int priority) {
    return "priority=" + priority + ",";
  }

  /** How it ends. */
  static String shownActive(boolean active) {
    return "active=" + active;
  }

  /** The name of a unit whose name somebody else's unit has. */
  static String nameBesideTaken(String name, String uid) {
    return NameAllocator.withSuffix(name, LONGEST, new SourceMark("", "", "", uid, name));
  }

  /** The name of the unit of a job; cut where the job's name is so long that it wouldn't fit. */
  static String name(String kind, String job) {
    String suffix = SUFFIXES.getOrDefault(kind, "");
    int most = LONGEST - suffix.length();
    return (job.length() > most ? job.substring(0, most) : job) + suffix;
  }
}
