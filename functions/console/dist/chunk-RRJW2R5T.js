var n=(a,e)=>{let m=e.trim().split(/[@(]/,1)[0];return a.find(i=>[i.name,...i.aliases??[]].includes(m))};export{n as a};
