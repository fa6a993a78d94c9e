/** What the configuration accepts, what it refuses, and with which words. */
@NullMarked
package dev.sluice.api.config;

import org.jspecify.annotations.NullMarked;
