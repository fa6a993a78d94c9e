/** Tests of AppWrappers, from their YAML and on a control plane. */
@NullMarked
package dev.sluice.jobs.appwrapper;

import org.jspecify.annotations.NullMarked;
