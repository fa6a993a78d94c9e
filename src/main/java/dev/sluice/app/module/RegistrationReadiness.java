package dev.sluice.app.module;

import dev.sluice.install.RegistrationRepair;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.leader.SharedObjectsGuard;
import io.fabric8.kubernetes.client.KubernetesClientException;

/**
 * Whether the API server asks this operator, as far as the looks at the registrations tell. Usable
 * from any thread.
 */
final class RegistrationReadiness {

  private volatile boolean unchecked;
  private volatile boolean unasked;

  /** Says that nothing was checked at the start, because another operator led. */
  void leaveUnchecked() {
    unchecked = true;
  }

  /** Takes what a look found, and put right where it might. */
  void found(RegistrationRepair.Finding finding) {
    unasked = finding.isFault() && finding.absent();
    unchecked = false;
  }

  /**
   * Takes why a look or a repair failed. Where the start checked nothing, that is what the start
   * would have ended with, unless the other operator leads still.
   */
  void failed(RuntimeException failure) {
    boolean isTold =
        !(failure instanceof SharedObjectsGuard.HeldByOtherException)
            && !(failure instanceof KubernetesClientException e && ApiErrorText.unreachable(e));
    unasked |= unchecked && isTold;
  }

  /** Whether nothing is known that keeps the API server from asking. */
  boolean isReady() {
    return !unasked;
  }
}
