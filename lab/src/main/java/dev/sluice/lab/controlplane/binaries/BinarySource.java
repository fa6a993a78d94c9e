package dev.sluice.lab.controlplane.binaries;

import java.nio.file.Path;

/** A source of the programs of a bundle. */
public interface BinarySource {

  /** The source's name in messages, such as {@code official release}. */
  String name();

  /**
   * The directory with every program of the bundle, executable.
   *
   * @throws SourceFailedException with the reason, when this source cannot provide the bundle
   * @throws InterruptedException when the calling thread is interrupted
   */
  Path obtain(Bundle bundle) throws SourceFailedException, InterruptedException;
}
