package dev.sluice.server.certificates;

import java.util.Map;
import java.util.Optional;

/** Access to the Secret that all replicas share. */
public interface SecretAccess {

  /**
   * Content of the Secret.
   *
   * @param data decoded values
   * @param version resource version, to be passed to {@link #write}
   */
  record Stored(Map<String, byte[]> data, String version) {}

  /** The present content; empty if the Secret does not exist. */
  Optional<Stored> read();

  /**
   * Creates the Secret, or replaces the version that was read.
   *
   * @param version empty to create
   * @return false if another replica wrote first; the caller must read again
   */
  boolean write(Map<String, byte[]> data, Optional<String> version);
}
