/** Steps that ask the same of different keys, one after the other, as one template and the places of their keys. */
export class Groups {
  readonly #groups: { readonly template: string; readonly places: number[] }[] = [];

  /** The places to add a step's keys to; `joins`: those of the step before, if that has the same template. */
  places(template: string, joins: boolean): number[] {
    const last = this.#groups.at(-1);
    if (joins && last?.template === template) return last.places;
    const places: number[] = [];
    this.#groups.push({ template, places });
    return places;
  }

  /**
   * Marks each place (a negative number) that occurs again later, so that Lua keeps that key until its last step.
   *
   * @returns whether there is one.
   */
  markShared(): boolean {
    // By place.
    const later: boolean[] = [];
    let shared = false;
    for (let g = this.#groups.length - 1; g >= 0; g -= 1) {
      const { places } = this.#groups[g] as { readonly places: number[] };
      for (let i = places.length - 1; i >= 0; i -= 1) {
        const place = places[i] as number;
        if (later[place] === true) {
          places[i] = -place;
          shared = true;
        } else later[place] = true;
      }
    }
    return shared;
  }

  /** `,[template],keys` for each group. */
  text(keysOf: (places: readonly number[]) => string): string {
    let text = '';
    for (const { template, places } of this.#groups) text += `,[${template}],${keysOf(places)}`;
    return text;
  }
}
