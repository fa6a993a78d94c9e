package dev.sluice.lab.controlplane.binaries;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Tries sources in order, for each bundle, until one provides it. */
public final class BinarySourceChain {

  private final List<BinarySource> sources;
  private final Progress progress;

  /**
   * Creates a chain.
   *
   * @param sources the sources, in order
   */
  public BinarySourceChain(List<BinarySource> sources, Progress progress) {
    this.sources = List.copyOf(sources);
    this.progress = progress;
  }

  /**
   * Obtains all programs of a control plane. Reports each failed source with its reason to the
   * progress.
   *
   * @throws BinariesMissingException when no source provides a bundle, with all reasons
   * @throws InterruptedException when the calling thread is interrupted
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
