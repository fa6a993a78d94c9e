package dev.sluice.topology;

import java.util.OptionalInt;

/**
 * How the rank of a pod in its pod set follows from labels.
 *
 * @param indexLabel the label with the index of the pod; empty if no label tells it
 * @param subGroupLabel the label with the index of the pod's subgroup; empty without subgroups
 * @param subGroupCount the number of subgroups
 * @param leaders the number of pods of the smaller pod set, for the larger one of a pod-set group:
 *     they have the first indexes
 */
public record PodRanking(String indexLabel, String subGroupLabel, int subGroupCount, int leaders) {

  /** No label tells the rank. */
  public static final PodRanking NONE = new PodRanking("", "", 0, 0);

  /**
   * The rank of a pod in a pod set of so many pods; empty if the labels don't tell one within the
   * pod set.
   */
  OptionalInt rank(TopologyPod pod, int count) {
    Integer index = pod.indexes().get(indexLabel);
    if (index == null) {
      return OptionalInt.empty();
    }
    long rank = (long) index - pod.indexOffset() - leaders;
    if (!subGroupLabel.isEmpty() && subGroupCount > 0) {
      Integer group = pod.indexes().get(subGroupLabel);
      int size = count / subGroupCount;
      if (group == null || rank >= size) {
        return OptionalInt.empty();
      }
      rank += (long) group * size;
    }
    return rank >= 0 && rank < count ? OptionalInt.of((int) rank) : OptionalInt.empty();
  }
}
