package dev.sluice.endtoend;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * A cohort tree with queues, made up by a seed: how deep, who may borrow, lend and preempt.
 *
 * @param stem what all names begin with
 */
record RandomQueues(String stem, String namespace, Random random, int queues, int cohorts) {

  /** Flavors of each world. */
  static final int FLAVORS = 2;

  private static final String HEADER = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ";

  static RandomQueues of(String stem, String namespace, Random random) {
    return new RandomQueues(stem, namespace, random, 2 + random.nextInt(3), 1 + random.nextInt(3));
  }

  String queue(int number) {
    return stem + "-cq-" + number;
  }

  String cohort(int number) {
    return stem + "-co-" + number;
  }

  static String localQueue(int number) {
    return "lq-" + number;
  }

  /** All objects, as documents of YAML. */
  List<String> objects() {
    List<String> objects = new ArrayList<>();
    for (int i = 0; i < FLAVORS; i++) {
      objects.add(HEADER + "ResourceFlavor\nmetadata: {name: \"%s\"}\n".formatted(flavor(i)));
    }
    for (int i = 0; i < cohorts; i++) {
      objects.add(cohortObject(i));
    }
    for (int i = 0; i < queues; i++) {
      objects.add(queueObject(i));
      objects.add(
          HEADER
              + "LocalQueue\nmetadata: {name: %s, namespace: \"%s\"}\nspec: {clusterQueue: \"%s\"}\n"
                  .formatted(localQueue(i), namespace, queue(i)));
    }
    return objects;
  }

  private String flavor(int number) {
    return stem + "-f-" + number;
  }

  /** A cohort; asked for once more, the same with other quotas of its own, if it has any. */
  String cohortObject(int number) {
    boolean root = number == 0;
    String parent = root ? "" : "\n  parentName: \"%s\"".formatted(cohort(random.nextInt(number)));
    return HEADER
        + "Cohort\nmetadata: {name: \"%s\"}\nspec:%s\n  resourceGroups:%s\n"
            .formatted(cohort(number), parent, random.nextBoolean() ? " []" : groups(2, !root));
  }

  /** A queue; asked for once more, the same with other quotas, policies and place in the tree. */
  String queueObject(int number) {
    boolean alone = random.nextInt(8) == 0;
    String cohort =
        alone ? "" : "\n  cohortName: \"%s\"".formatted(cohort(random.nextInt(cohorts)));
    return HEADER
        + """
        ClusterQueue
        metadata: {name: "%s"}
        spec:%s
          namespaceSelector: {}
          queueingStrategy: %s
          preemption:
            withinClusterQueue: %s
            reclaimWithinCohort: %s
          flavorFungibility: {whenCanBorrow: %s, whenCanPreempt: %s}
          fairSharing: {weight: "%s"}
          resourceGroups:%s
        """
            .formatted(
                queue(number),
                cohort,
                random.nextInt(3) == 0 ? "StrictFIFO" : "BestEffortFIFO",
                pick("Never", "LowerPriority", "LowerOrNewerEqualPriority"),
                reclaim(),
                pick("MayStopSearch", "TryNextFlavor"),
                pick("MayStopSearch", "TryNextFlavor"),
                pick("1", "1", "2", "0.5"),
                groups(5, !alone));
  }

  private String reclaim() {
    String policy = pick("Never", "LowerPriority", "Any", "Any");
    if (policy.equals("Never") || random.nextBoolean()) {
      return policy;
    }
    String threshold = random.nextBoolean() ? ", maxPriorityThreshold: " + random.nextInt(3) : "";
    return policy + "\n    borrowWithinCohort: {policy: LowerPriority" + threshold + "}";
  }

  private String groups(int most, boolean limited) {
    List<Integer> flavors = new ArrayList<>();
    for (int i = 0; i < FLAVORS; i++) {
      flavors.add(i);
    }
    Collections.shuffle(flavors, random);
    StringBuilder text = new StringBuilder("\n  - coveredResources: [cpu, memory]\n    flavors:");
    for (int flavor : flavors.subList(0, 1 + random.nextInt(FLAVORS))) {
      text.append("\n    - name: \"").append(flavor(flavor)).append("\"\n      resources:");
      text.append(quota("cpu", most, "", limited)).append(quota("memory", 2 * most, "Gi", limited));
    }
    return text.toString();
  }

  private String quota(String resource, int most, String unit, boolean limited) {
    int nominal = random.nextInt(most + 1);
    StringBuilder text =
        new StringBuilder(
            "\n      - {name: %s, nominalQuota: %d%s".formatted(resource, nominal, unit));
    if (limited && random.nextInt(4) == 0) {
      text.append(", borrowingLimit: ").append(random.nextInt(4)).append(unit);
    }
    if (limited && random.nextInt(4) == 0) {
      text.append(", lendingLimit: ").append(random.nextInt(nominal + 1)).append(unit);
    }
    return text.append('}').toString();
  }

  private String pick(String... words) {
    return words[random.nextInt(words.length)];
  }
}
