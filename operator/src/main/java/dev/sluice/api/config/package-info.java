/**
 * The operator's configuration: one immutable record, read from the file and the command line that
 * people write. What enters is text, and nothing of it is ignored: what is unknown, wrong or not
 * supported yet is refused by its path. What leaves is a {@link
 * dev.sluice.api.config.Configuration} that holds throughout, or one exception with every problem.
 */
@NullMarked
package dev.sluice.api.config;

import org.jspecify.annotations.NullMarked;
