/**
 * Changes the sample rate inside the audio worklets, for browsers that record at their own rate only. The provider's
 * client would load a two-megabyte library from a third party for this; speech needs no more than averages.
 */

interface Resampler {
  /** The samples at the new rate; goes on where the previous call ended. */
  full(samples: Float32Array): Float32Array;
}

/** Each new sample is the mean of the signal over its span, with straight lines between the old samples. */
function makeResampler(fromRate: number, toRate: number): Resampler {
  const step = fromRate / toRate;
  let position = 0;
  let previous = 0;
  return {
    full(samples) {
      const result: number[] = [];
      const at = (index: number) => (index < 0 ? previous : (samples[index] ?? 0));
      const between = (position: number) => {
        const index = Math.floor(position);
        return at(index) + (at(index + 1) - at(index)) * (position - index);
      };
      const parts = Math.max(1, Math.ceil(step));
      // The last old sample is kept as the left neighbour of the next call's first.
      while (position + step <= samples.length) {
        let sum = 0;
        for (let part = 0; part < parts; part++) sum += between(position + (step * part) / parts - 1);
        result.push(sum / parts);
        position += step;
      }
      position -= samples.length;
      previous = samples.at(-1) ?? previous;
      return Float32Array.from(result);
    },
  };
}

// The provider's worklets expect this name and this interface.
Object.assign(globalThis, {
  LibSampleRate: {
    create: async (_channels: number, fromRate: number, toRate: number) => makeResampler(fromRate, toRate),
  },
});

export {};
