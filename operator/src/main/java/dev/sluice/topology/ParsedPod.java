package dev.sluice.topology;

import dev.sluice.accounting.PodRecord;
import java.util.Optional;
import java.util.UUID;

/**
 * What one version of a pod says.
 *
 * @param record what is kept of every pod
 * @param ended whether the pod has terminated
 * @param placed the pod, if it says that it is placed by a topology
 */
record ParsedPod(PodRecord record, boolean ended, Optional<TopologyPod> placed) {

  /** The UID. */
  UUID uid() {
    return record.uid();
  }
}
