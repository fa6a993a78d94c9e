/**
 * The wiring of the operator, one module per area: each constructs its objects, starts and stops
 * them, and hands others what they need. The context of the process enters. Running parts leave.
 */
@NullMarked
package dev.sluice.app.module;

import org.jspecify.annotations.NullMarked;
