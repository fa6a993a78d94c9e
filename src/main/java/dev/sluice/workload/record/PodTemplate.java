package dev.sluice.workload.record;

import dev.sluice.core.model.NodeConstraints;
import java.util.List;
import java.util.Map;

/**
 * The cached part of a pod template: everything that quota, limits and placement depend on.
 * Quantities are amounts (thousandths for cpu, whole units, rounded up, for every other resource).
 *
 * @param containers the containers
 * @param initContainers the init containers
 * @param podLevel pod-level requests and limits (both maps empty if absent)
 * @param overhead overhead written in the template; empty when absent
 * @param runtimeClassName the RuntimeClass; empty when absent
 * @param nodeConstraints the nodes that the pods may run on
 * @param fingerprint a digest of containers, init containers and (see {@link
 *     #fingerprintWithoutTolerations}) tolerations: equal for templates that run the same pods
 * @param fingerprintWithoutTolerations the same without tolerations
 * @param resourceClaims names of the resource claims that the template creates or its containers
 *     use, sorted, without duplicates
 * @param problems parse errors, each naming field and value; usually empty
 */
public record PodTemplate(
    List<Container> containers,
    List<Container> initContainers,
    ResourceNeeds podLevel,
    Map<String, Long> overhead,
    String runtimeClassName,
    NodeConstraints nodeConstraints,
    String fingerprint,
    String fingerprintWithoutTolerations,
    List<String> resourceClaims,
    List<String> problems) {

  /**
   * A container.
   *
   * @param restartable whether it is an init container that keeps running (a sidecar)
   */
  public record Container(String name, ResourceNeeds resources, boolean restartable) {}

  /**
   * Compares fingerprints only, because templates are used as map keys: equal templates have equal
   * fingerprints.
   */
  @Override
  public int hashCode() {
    return fingerprint.hashCode();
  }

  /** Requests and limits, by resource. */
  public record ResourceNeeds(Map<String, Long> requests, Map<String, Long> limits) {}
}
