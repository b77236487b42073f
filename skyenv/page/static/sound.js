// A sound when it becomes this seat's turn; off until its button is pressed.
import { $ } from "./dom.js";
import { onState } from "./seat.js";
import { kept, setOn } from "./settings.js";

let wasYours = true; // a page that was just loaded is quiet

function ring() {
  const audio = new AudioContext();
  const [tone, volume] = [audio.createOscillator(), audio.createGain()];
  const end = audio.currentTime + 0.4; // seconds
  volume.gain.value = 0.1;
  volume.gain.exponentialRampToValueAtTime(0.001, end);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(end);
  tone.onended = () => audio.close();
}

export function setUpSound() {
  const button = $("sound");
  const isOn = () => kept("sound") === "on";
  const show = () => button.setAttribute("aria-pressed", `${isOn()}`);
  show();
  button.onclick = () => {
    setOn("sound", !isOn());
    show();
    if (isOn()) ring();
  };
  onState(({ yours }) => {
    if (yours && !wasYours && isOn()) ring();
    wasYours = yours;
  });
}
