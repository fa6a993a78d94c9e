package dev.sluice.lab.controlplane.binaries;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Asks sources in order, for each bundle, until one gives it. */
public final class BinarySourceChain {

  private final List<BinarySource> sources;
  private final Progress progress;

  /** With the sources in the order in which they are asked. */
  public BinarySourceChain(List<BinarySource> sources, Progress progress) {
    this.sources = List.copyOf(sources);
    this.progress = progress;
  }

  /**
   * All programs of a control plane. Each source that fails is named to the progress with its
   * reason.
   *
   * @throws BinariesMissingException when a bundle can be had from no source, with all reasons
   * @throws InterruptedException when the caller's thread is interrupted while it waits
   */
  public Binaries obtain() throws BinariesMissingException, InterruptedException {
    Map<Bundle, Path> directories = new EnumMap<>(Bundle.class);
    for (Bundle bundle : Bundle.values()) {
      directories.put(bundle, obtain(bundle));
    }
    return new Binaries(directories);
  }

  private Path obtain(Bundle bundle) throws BinariesMissingException, InterruptedException {
    List<String> reasons = new ArrayList<>();
    for (BinarySource source : sources) {
      try {
        return source.obtain(bundle);
      } catch (SourceFailedException e) {
        String reason = source.name() + ": " + e.getMessage();
        reasons.add(reason);
        progress.say("no " + bundle.title() + " from " + reason);
      }
    }
    throw new BinariesMissingException(bundle, reasons);
  }
}
