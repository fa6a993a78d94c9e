package dev.sluice.workload;

import dev.sluice.workload.record.KubernetesResourceContext;
import dev.sluice.workload.record.NamespaceLimits;
import io.fabric8.kubernetes.api.model.LimitRange;
import java.util.List;

/** What is made of LimitRanges, for tests of other rooms. */
public final class RangesRead {

  private RangesRead() {}

  /** The rules of a namespace with these. */
  public static NamespaceLimits of(List<LimitRange> ranges) {
    return KubernetesResourceContext.merged(ranges);
  }
}
