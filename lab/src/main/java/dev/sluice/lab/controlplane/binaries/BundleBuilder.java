package dev.sluice.lab.controlplane.binaries;

import java.nio.file.Path;

/** Produces a bundle's programs, by download or build. */
public interface BundleBuilder {

  /** The builder's name in messages. */
  String name();

  /**
   * Writes every program of the bundle into an empty directory.
   *
   * @throws SourceFailedException with the reason; the caller discards the directory
   * @throws InterruptedException when the calling thread is interrupted
   */
  void make(Bundle bundle, Path emptyDirectory) throws SourceFailedException, InterruptedException;
}
