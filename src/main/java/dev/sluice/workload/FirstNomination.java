package dev.sluice.workload;

import dev.sluice.workload.CachedWorkload.CheckState;
import java.util.List;

/**
 * Worker clusters that a Workload is nominated for in the write that reserves its quota, so that no
 * second write is needed for it. Called by any thread.
 */
@FunctionalInterface
public interface FirstNomination {

  /** Nominates none. */
  FirstNomination NONE = (workload, checks) -> List.of();

  /**
   * The worker clusters; empty if they are nominated later, or never.
   *
   * @param checks the states of the admission checks after the write
   */
  List<String> of(CachedWorkload workload, List<CheckState> checks);
}
