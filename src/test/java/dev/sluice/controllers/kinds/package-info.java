/** Reconcilers at work against a mock of the API server. */
@NullMarked
package dev.sluice.controllers.kinds;

import org.jspecify.annotations.NullMarked;
