// From figures to places on a chart.

const STEPS = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];

// niceCeiling is the lowest of some steps, times a power of ten, that is not below a value.
export function niceCeiling(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = STEPS.find((candidate) => value <= candidate * power * (1 + 1e-9));
  return step * power;
}

// highest is the largest number of several lists with unknown places, 0 if there is none.
export function highest(...lists) {
  let found = 0;
  for (const list of lists) for (const value of list) if (value > found) found = value;
  return found;
}

// linePath draws a list over moments. It is broken where values are unknown or moments further apart than
// the gap. With steps, a value holds until the next one.
export function linePath(moments, values, x, y, gap, hasSteps = false) {
  let path = "";
  let before = null;
  moments.forEach((moment, place) => {
    const value = values[place];
    if (value === null || value === undefined) {
      before = null;
      return;
    }
    const [across, down] = [x(moment).toFixed(1), y(value).toFixed(1)];
    const isBroken = before === null || moment - before > gap;
    if (isBroken) path += `M${across} ${down}`;
    else path += hasSteps ? `H${across}V${down}` : `L${across} ${down}`;
    before = moment;
  });
  return path;
}

// areaPath is a line closed along the bottom; each unbroken part by itself.
export function areaPath(line, bottom) {
  return line.split("M").slice(1).map((part) => {
    const [, startX] = /^(\S+)/.exec(part);
    const steps = part.match(/[HL]([\d.-]+)/g);
    const endX = steps ? steps.at(-1).slice(1) : startX;
    return `M${part}L${endX} ${bottom}L${startX} ${bottom}Z`;
  }).join("");
}

// placeNear is the place of the moment that is nearest, -1 if there is none.
export function placeNear(moments, wanted) {
  let found = -1;
  moments.forEach((moment, place) => {
    if (found < 0 || Math.abs(moment - wanted) < Math.abs(moments[found] - wanted)) found = place;
  });
  return found;
}
