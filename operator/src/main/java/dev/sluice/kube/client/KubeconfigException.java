package dev.sluice.kube.client;

import java.io.IOException;

/** There is no kubeconfig, or it names no cluster; the message says so, and where it was sought. */
public final class KubeconfigException extends IOException {

  private static final long serialVersionUID = 1L;

  /** With a message for people. */
  KubeconfigException(String message) {
    super(message);
  }
}
