/** Tests of the log's format, levels and options. */
@NullMarked
package dev.sluice.app.log;

import org.jspecify.annotations.NullMarked;
