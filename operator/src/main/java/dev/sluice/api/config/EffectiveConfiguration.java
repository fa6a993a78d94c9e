package dev.sluice.api.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.fasterxml.jackson.dataformat.yaml.util.StringQuotingChecker;

/**
 * Writes a configuration out as a file of its own kind with nothing left to defaults: what the
 * operator prints at start. Read again, it gives the same configuration. It holds no secrets:
 * certificates and credentials are only named, and the values of a program's environment are left
 * out.
 */
final class EffectiveConfiguration {

  private static final YAMLMapper YAML =
      new YAMLMapper(
          YAMLFactory.builder()
              .enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
              .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
              .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
              .stringQuotingChecker(new Numbers())
              .enable(YAMLGenerator.Feature.INDENT_ARRAYS_WITH_INDICATOR)
              .build());

  private EffectiveConfiguration() {}

  /** Quotes what a reader could take for a number of any base, too. */
  private static final class Numbers extends StringQuotingChecker.Default {

    private static final long serialVersionUID = 1L;

    @Override
    public boolean needToQuoteValue(String text) {
      return super.needToQuoteValue(text) || text.matches("[-+.]*[0-9].*");
    }
  }

  /** What was settled, as YAML. */
  static String yaml(ObjectNode settled) {
    try {
      return YAML.writeValueAsString(settled);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("plain values can always be written", e);
    }
  }
}
