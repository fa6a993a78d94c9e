package dev.sluice.topology;

import java.util.Optional;
import java.util.SortedMap;
import java.util.UUID;

/**
 * What one version of a pod says.
 *
 * @param uid the UID
 * @param ended whether the pod has terminated
 * @param node the node that the pod is bound to; empty while it is bound to none
 * @param used what the pod requests, itself as one of {@code pods} included
 * @param placed the pod, if it is placed by a topology
 */
record ParsedPod(
    UUID uid,
    boolean ended,
    String node,
    SortedMap<String, Long> used,
    Optional<TopologyPod> placed) {}
