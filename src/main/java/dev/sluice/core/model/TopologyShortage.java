package dev.sluice.core.model;

/**
 * Why pods can't be placed, in numbers: "needs 16 pods in one rack; the best rack r3 has room for
 * 12; 31 in the block".
 *
 * @param level the label key of the level at which one domain was to have room; empty if several
 *     domains together were
 * @param needed the pods to place
 * @param sliceSize the pods that must be within one domain of {@code sliceLevel}; 1 without slices
 * @param sliceLevel the label key of the slices' level
 * @param best the name of the domain with most room; empty if there is no domain
 * @param bestRoom the pods that it has room for, in whole slices
 * @param around the label key of the level above that domain; empty at the top
 * @param aroundRoom the pods that the domain around it has room for
 * @param total the pods that all domains have room for
 * @param domains the number of domains at the level
 * @param excluded the nodes that the pods can't run on, because of taints, node selector or node
 *     affinity
 * @param leader whether a leader had to find room in the same domain
 */
public record TopologyShortage(
    String level,
    long needed,
    int sliceSize,
    String sliceLevel,
    String best,
    long bestRoom,
    String around,
    long aroundRoom,
    long total,
    int domains,
    int excluded,
    boolean leader) {}
