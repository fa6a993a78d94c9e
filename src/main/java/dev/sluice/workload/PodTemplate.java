package dev.sluice.workload;

import dev.sluice.core.model.NodeConstraints;
import java.util.List;
import java.util.Map;

/**
 * What is kept of a pod template: all that quota, limits and placement look at. Quantities are kept
 * as amounts (thousandths for cpu, whole units, rounded up, for everything else).
 *
 * @param containers its containers
 * @param initContainers its init containers
 * @param podLevel requests and limits of the pod as a whole, if it has them (both maps empty if
 *     not)
 * @param overhead overhead written in the template; empty when absent
 * @param runtimeClassName its RuntimeClass; empty when it has none
 * @param placement where its pods may run
 * @param fingerprint a digest of containers, init containers and (see {@link
 *     #fingerprintWithoutTolerations}) tolerations: equal for templates that run the same pods
 * @param fingerprintWithoutTolerations the same without tolerations
 * @param resourceClaims names of the claims for devices that it makes or that its containers use,
 *     sorted, each once
 * @param problems what can't be understood in it, each naming field and value; usually none
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

  /** Cheap, since templates are looked up by it: equal templates have equal fingerprints. */
  @Override
  public int hashCode() {
    return fingerprint.hashCode();
  }

  /** Requests and limits, by resource. */
  public record ResourceNeeds(Map<String, Long> requests, Map<String, Long> limits) {}
}
