package dev.sluice.lab.controlplane.binaries;

import java.nio.file.Path;

/** One place that the programs of a bundle may be had from. */
public interface BinarySource {

  /** The source's name in messages, such as {@code official release}. */
  String name();

  /**
   * The directory that holds every program of the bundle, executable.
   *
   * @throws SourceFailedException with the reason, when this source can't give the bundle
   * @throws InterruptedException when the caller's thread is interrupted while it waits
   */
  Path obtain(Bundle bundle) throws SourceFailedException, InterruptedException;
}
