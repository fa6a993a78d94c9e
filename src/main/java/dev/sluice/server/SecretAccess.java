package dev.sluice.server;

import java.util.Map;
import java.util.Optional;

/** The one Secret that all replicas share. */
public interface SecretAccess {

  /**
   * What is stored.
   *
   * @param data values, decoded
   * @param version of the object, to be given back when writing
   */
  record Stored(Map<String, byte[]> data, String version) {}

  /** The Secret as it is now, empty if it doesn't exist. */
  Optional<Stored> read();

  /**
   * Creates the Secret, or replaces the version that was read.
   *
   * @param version empty to create
   * @return false when somebody else was faster; then it is to be read again
   */
  boolean write(Map<String, byte[]> data, Optional<String> version);
}
