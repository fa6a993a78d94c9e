package dev.sluice.lab.controlplane.binaries;

import java.nio.file.Path;

/** Makes a bundle's programs: by downloading them or by building them. */
public interface BundleBuilder {

  /** The maker's name in messages. */
  String name();

  /**
   * Puts every program of the bundle into an empty directory.
   *
   * @throws SourceFailedException with the reason; what is in the directory then is thrown away
   * @throws InterruptedException when the caller's thread is interrupted while it waits
   */
  void make(Bundle bundle, Path emptyDirectory) throws SourceFailedException, InterruptedException;
}
