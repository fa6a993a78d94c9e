package dev.sluice.webhooks.review;

/**
 * A webhook needs a fact about the cluster before the cluster has been listed. The request has to
 * be repeated later; this is not an error of the program.
 */
public final class ClusterNotListedException extends IllegalStateException {

  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message says what is missing, for the client
   */
  public ClusterNotListedException(String message, Throwable cause) {
    super(message, cause);
  }
}
